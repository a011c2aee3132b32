# runc for machines that may not grant all that a container asks for.
{ goProgram, runc, run, shell }:
let
  fit = goProgram "runc-fit-program" ./.;
in
run "runc-fit" { } ''
  mkdir -p $out/bin
  printf '#!${shell}\nRUNC=${runc}/bin/runc exec ${fit} "$@"\n' > $out/bin/runc-fit
  chmod +x $out/bin/runc-fit
''
