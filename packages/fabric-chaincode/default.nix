# The lab's chaincode, served as a service.
{ goPackage }:
goPackage {
  name = "fabric-chaincode";
  version = "1.0";
  source = ../../labs/kata-hlf/chaincode;
  commands.chaincode = ".";
}
