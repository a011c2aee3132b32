"""What a trial uses while it runs, from cgroups, and what else the machine did meanwhile."""
