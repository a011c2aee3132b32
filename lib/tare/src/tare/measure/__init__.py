"""What a trial uses while it runs: CPU and memory, from cgroups."""
