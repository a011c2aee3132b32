# Linkerd's command line from its publisher (channel upstream), and what the lab calls of it. `tare pins pin linkerd`
# fetches it and records its hash, as no public source states one; until then this package is not among the others.
#
#   bin/control-plane   prints the control plane's manifests, with certificates that it makes anew each time
#   bin/inject FILE     prints the manifests in FILE with sidecars
{ run, upstreamFile, shell }:
run "linkerd-edge-25.4.1" { } ''
  mkdir -p $out/bin
  cp ${upstreamFile "linkerd"} $out/bin/linkerd
  chmod 755 $out/bin/linkerd
  cat > $out/bin/control-plane <<END
  #!${shell}
  set -eu
  $out/bin/linkerd install --ignore-cluster --crds --set installGatewayAPI=true
  echo ---
  exec $out/bin/linkerd install --ignore-cluster --set disableHeartBeat=true
  END
  cat > $out/bin/inject <<END
  #!${shell}
  exec $out/bin/linkerd inject --manual --ignore-cluster "\$1"
  END
  sed -i 's/^  //' $out/bin/control-plane $out/bin/inject
  chmod +x $out/bin/control-plane $out/bin/inject
''
