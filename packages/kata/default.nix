# Kata Containers from its publisher's archive (channel upstream): QEMU, guest kernel and image, shim,
# with the archive's own configuration, whose paths are made those of the store. No lab depends on it:
# `tare pins pin kata` fetches the archive, `nix build .#kata` unpacks it where labs look for it.
{ run, upstreamFile }:
run "kata-3.2.0" { } ''
  mkdir -p $out
  tar -xJf ${upstreamFile "kata"} -C $out
  sed -i "s#/opt/kata#$out/opt/kata#g" $out/opt/kata/share/defaults/kata-containers/configuration-qemu.toml
''
