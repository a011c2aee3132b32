# The command line and the runtime behind it.
{ run, python, shell }:
run "tare" { } ''
  site=$out/lib/python3.11/site-packages
  mkdir -p $site $out/bin
  cp -r ${../../lib/tare/src/tare} $site/tare
  chmod -R u+w $site
  ${python}/bin/python -m compileall -q --invalidation-mode unchecked-hash -s $out $site
  cat > $out/bin/tare <<END
  #!${shell}
  export PYTHONPATH=$site
  exec ${python}/bin/python -m tare "\$@"
  END
  sed -i 's/^  //' $out/bin/tare
  chmod +x $out/bin/tare
''
