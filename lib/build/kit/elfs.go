package main

import (
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// listElfs prints the dynamic x86-64 ELF files below dir: "program PATH" for those with an
// interpreter, "library PATH" for the others. The C library and its loader are left out: they
// find their own parts, and a changed search path breaks them.
func listElfs(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Base(path) == "libc.so.6" {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		magic := make([]byte, len(elf.ELFMAG))
		if _, err := io.ReadFull(file, magic); err != nil || string(magic) != elf.ELFMAG {
			return nil // too short for an ELF file, or another kind
		}
		object, err := elf.NewFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if object.Machine != elf.EM_X86_64 {
			return nil
		}
		interpreted, dynamic := false, false
		for _, segment := range object.Progs {
			interpreted = interpreted || segment.Type == elf.PT_INTERP
			dynamic = dynamic || segment.Type == elf.PT_DYNAMIC
		}
		if interpreted {
			fmt.Println("program", path)
		} else if libraries, _ := object.ImportedLibraries(); dynamic && len(libraries) > 0 {
			fmt.Println("library", path)
		}
		return nil
	})
}
