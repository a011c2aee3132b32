# An open-loop load generator: requests leave on schedule, whether or not earlier ones were answered.
{ goPackage }:
goPackage {
  name = "vegeta";
  version = "12.12.0";
  source = ./.;
  commands.vegeta = "github.com/tsenart/vegeta/v12";
  ldflags = "-X main.Version=12.12.0";
}
