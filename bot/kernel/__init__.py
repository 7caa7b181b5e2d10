"""What everybody needs and no subject owns: names, actors, durations, base errors, the clock."""
