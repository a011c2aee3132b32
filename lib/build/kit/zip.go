package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
)

// unpackZip unpacks a zip archive, wheels among them.
func unpackZip(out, file string) error {
	archive, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer archive.Close()
	for _, entry := range archive.File {
		if strings.HasSuffix(entry.Name, "/") {
			continue
		}
		path := filepath.Join(out, filepath.Clean("/"+entry.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		content, err := entry.Open()
		if err != nil {
			return err
		}
		err = writeFile(path, entry.Mode(), content)
		content.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
