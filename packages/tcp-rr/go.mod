module tare/tcp-rr

go 1.23
