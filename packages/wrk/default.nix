# wrk, an HTTP load generator, and the script by which it writes its whole histogram of latencies.
{ debRoot }:
debRoot "wrk" ''
  mkdir -p $out/share/wrk
  cp ${./report.lua} $out/share/wrk/report.lua
''
