# What the image of every mesh's sidecar begins with: iptables and the C library at Debian's own paths.
{ run, debFiles }:
run "sidecar-base" { } ''
  cp -r ${debFiles "proxy"} $out
  chmod -R u+w $out
  rm -rf $out/usr/share/doc $out/usr/share/man $out/usr/share/lintian $out/usr/share/bug
  # update-alternatives runs in maintainer scripts only. nft is Debian's default; Istio and Kuma look at the
  # rules there are and take the other one, under its own name, where they find some of its.
  for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
    ln -s xtables-nft-multi $out/usr/sbin/$name
  done
''
