"""Numbers in, numbers out: intervals, bootstrap, histograms, steady state, power. Pure, the lowest layer."""
