module tare/fabric-ccaas-builder

go 1.23
