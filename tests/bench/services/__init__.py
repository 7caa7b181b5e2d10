"""The services for the measured programs: as cheap as possible, so as not to be measured too."""
