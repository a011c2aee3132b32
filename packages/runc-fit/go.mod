module tare/runc-fit

go 1.23
