# The HTTP server under test: Debian's nginx, unchanged, and three files of a known size. Their text can be
# recognised in a capture of packets, which is how encryption is proved.
{ run }:
run "http-server-files" { } ''
  mkdir -p $out/etc/nginx $out/srv
  cp ${./nginx.conf} $out/etc/nginx/nginx.conf
  for bytes in 64 1024 65536; do
    yes "tare plaintext" | head -c $bytes > $out/srv/$bytes
  done
''
