// Command fabric-ccaas-builder is a Fabric external builder for chaincode that runs as a service.
//
// It is one program under three names, as the peer calls them from its builder's bin folder:
//
//	detect  SOURCE METADATA          succeeds if the package is of type "ccaas"
//	build   SOURCE METADATA OUTPUT   keeps connection.json, all that such a package holds
//	release OUTPUT RELEASE           publishes it where the peer looks for the server's address
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const connection = "connection.json"

func main() {
	if err := run(filepath.Base(os.Args[0]), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(phase string, folders []string) error {
	expected, known := map[string]int{"detect": 2, "build": 3, "release": 2}[phase]
	if !known {
		return fmt.Errorf("called as %q: expected detect, build or release", phase)
	}
	if len(folders) != expected {
		return fmt.Errorf("%s: expected %d folders, found %d", phase, expected, len(folders))
	}
	switch phase {
	case "detect":
		return detect(folders[1])
	case "build":
		return copyConnection(folders[0], folders[2])
	default:
		return copyConnection(folders[0], filepath.Join(folders[1], "chaincode", "server"))
	}
}

func detect(metadata string) error {
	content, err := os.ReadFile(filepath.Join(metadata, "metadata.json"))
	if err != nil {
		return err
	}
	var chaincode struct{ Type string }
	if err := json.Unmarshal(content, &chaincode); err != nil {
		return fmt.Errorf("metadata.json: %w", err)
	}
	if chaincode.Type != "ccaas" {
		return fmt.Errorf("metadata.json: type: expected \"ccaas\", found %q", chaincode.Type)
	}
	return nil
}

func copyConnection(from, to string) error {
	content, err := os.ReadFile(filepath.Join(from, connection))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, connection), content, 0o644)
}
