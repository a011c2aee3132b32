module tare/kit

go 1.23
