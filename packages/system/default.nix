# The system programs that a node's daemons and the lab itself call.
{ debRoot }:
debRoot "system" ''
  # update-alternatives runs in maintainer scripts only. The lab's bring-up probes which back end
  # the kernel has, so both stand side by side under their own names.
  for variant in nft legacy; do
    mkdir -p $out/iptables-$variant
    for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
      ln -s ../usr/sbin/xtables-$variant-multi $out/iptables-$variant/$name
    done
  done
''
