module tare/oci

go 1.23
