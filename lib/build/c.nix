# A C compiler from Debian's packages, for cgo and for small static programs.
{ run, debRoot, shell }:
let
  root = debRoot "cc" "";
in
run "cc" { } ''
  mkdir -p $out/bin
  cat > $out/bin/cc <<'END'
  #!${shell}
  export PATH=${root}/usr/bin
  exec ${root}/usr/bin/gcc --sysroot=${root} -B${root}/usr/lib/x86_64-linux-gnu/ "$@"
  END
  cat > $out/bin/pkg-config <<'END'
  #!${shell}
  export PKG_CONFIG_SYSROOT_DIR=${root} PKG_CONFIG_LIBDIR=${root}/usr/lib/x86_64-linux-gnu/pkgconfig
  exec ${root}/usr/bin/pkgconf "$@"
  END
  chmod +x $out/bin/*
''
