"""What the trials say: estimates within blocks, intervals valid at every look, and budgets judged on them. Pure."""
