"""What the measured programs talk to: as cheap as can be, so that it is not what is measured."""
