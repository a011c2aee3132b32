# The process that holds a pod's namespaces.
{ run, compiler }:
run "pause-3.9" { } ''
  mkdir -p $out/bin
  ${compiler}/bin/cc -Os -Wall -Wextra -Werror -static -s -o $out/bin/pause ${./pause.c}
''
