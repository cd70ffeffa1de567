"""Real engines on a machine without a GPU: installs, starts, holds and ends them. Standard library only."""
