# Debian packages as they are (debTree), or so that their programs run from the store (debRoot).
{ system, pins, kit, fetchFile, run }:
let
  files = packages: map (package: fetchFile (pins.debian.file package)) packages;

  /**
    Unpack Debian packages into one merged-/usr tree, unchanged: for images and for data.
    Type: debTree :: String -> [ String ] -> Derivation
    Example: debTree "ca" [ "ca-certificates" ]
  */
  debTree =
    name: packages:
    derivation {
      inherit name system;
      builder = kit;
      args = [ "deb" (placeholder "out") ] ++ files packages;
    };

  /**
    The packages of a pinned root in one tree, unchanged: for images, where they are at their own paths.
    Type: debFiles :: String -> Derivation
    Example: debFiles "nginx"
  */
  debFiles = name: debTree name (pins.debian.root name);

  patchelf = debFiles "patchelf";

  # Runs patchelf through its own loader: nothing is at /lib64 in the sandbox.
  patchelfCommand = "${patchelf}/lib64/ld-linux-x86-64.so.2 --library-path ${patchelf}/usr/lib/x86_64-linux-gnu ${patchelf}/usr/bin/patchelf";

  /**
    The packages of a pinned root, every ELF file pointed into the root itself, so that
    programs run straight from the store. `script` may arrange the tree further.
    Type: debRoot :: String -> String -> Derivation
    Example: debRoot "system" "ln -s xtables-nft-multi $out/usr/sbin/iptables"
  */
  debRoot =
    name: script:
    run name { debs = files (pins.debian.root name); } ''
      ${kit} deb $out $debs
      ${kit} elfs $out > /build/elfs
      while read kind file; do
        chmod u+w "$file"
        case $kind in
          program) ${patchelfCommand} --set-interpreter $out/lib64/ld-linux-x86-64.so.2 --force-rpath --set-rpath $out/usr/lib/x86_64-linux-gnu "$file" ;;
          library) ${patchelfCommand} --force-rpath --set-rpath $out/usr/lib/x86_64-linux-gnu "$file" ;;
        esac
      done < /build/elfs
      ${script}
    '';
in
{
  inherit debTree debFiles debRoot patchelfCommand;
}
