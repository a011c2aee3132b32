# A flake as small as can be, built by Nix alone: `builtin:buildenv` needs no shell.
{
  outputs =
    { self }:
    {
      labs.tiny = "A tiny lab";
      packages.x86_64-linux = {
        lab-tiny = derivation {
          name = "lab-tiny";
          system = "x86_64-linux";
          builder = "builtin:buildenv";
          derivations = "true 5 1 ${./lab}";
          manifest = ./lab;
        };
        lab-broken = derivation {
          name = "lab-broken";
          system = "x86_64-linux";
          builder = "/no/such/program";
        };
      };
    };
}
