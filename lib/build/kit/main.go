// kit is the bootstrap tool: the only program that runs before there is a shell.
//
//	kit deb OUT FILE.deb...   unpack Debian packages into one merged-/usr tree
//	kit zip OUT FILE.zip...   unpack zip archives (wheels)
//	kit elfs DIR              list the dynamic ELF files below DIR
//
// Everything in the store is built below it, so it holds these three and nothing else.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kit:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) < 2 {
		return fmt.Errorf("usage: kit deb|zip OUT FILE..., kit elfs DIR")
	}
	target, files := arguments[1], arguments[2:]
	unpack := map[string]func(string, string) error{"deb": unpackDeb, "zip": unpackZip}[arguments[0]]
	switch {
	case arguments[0] == "elfs":
		return listElfs(target)
	case unpack == nil:
		return fmt.Errorf("unknown command %q: expected deb, zip or elfs", arguments[0])
	}
	for _, file := range files {
		if err := unpack(target, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if arguments[0] == "deb" {
		return linkTopLevel(target)
	}
	return nil
}
