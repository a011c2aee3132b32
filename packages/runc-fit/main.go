// runc-fit runs runc after fitting the OCI configuration to what this machine may grant: it drops
// capabilities outside the bounding set and clamps resource limits and OOM scores that only
// CAP_SYS_RESOURCE may raise. It only ever asks for less than the configuration does; where the
// machine may grant everything, it changes nothing.
//
// The environment variable RUNC names the runc to run.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "runc-fit:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	granted, err := readGrants()
	if err != nil {
		return err
	}
	file, nested := configuration(arguments)
	if file != "" {
		if err := fitFile(file, nested, granted); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return syscall.Exec(os.Getenv("RUNC"), append([]string{"runc"}, arguments...), os.Environ())
}

// configuration returns the file that holds the process a runc call will start, and whether the
// process is nested in it; no file for calls that start none.
func configuration(arguments []string) (file string, nested bool) {
	value := func(names ...string) string {
		for i, argument := range arguments {
			for _, name := range names {
				if argument == name && i+1 < len(arguments) {
					return arguments[i+1]
				}
			}
		}
		return ""
	}
	for _, argument := range arguments {
		switch argument {
		case "create", "run":
			return filepath.Join(value("--bundle", "-b"), "config.json"), true
		case "exec":
			return value("--process", "-p"), false
		}
	}
	return "", false
}

func fitFile(file string, nested bool, granted grants) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		return err
	}
	process := document
	if nested {
		process, _ = document["process"].(map[string]any)
	}
	if process == nil || !fit(process, granted) {
		return nil
	}
	fitted, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return os.WriteFile(file, fitted, 0o600)
}
