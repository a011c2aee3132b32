# netperf and netserver, from Debian's non-free; not among the packages where lib/pins/debian.toml leaves them out.
{ debRoot }:
debRoot "netperf" ""
