package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// deb returns a Debian package whose data member holds the given tar entries.
func deb(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var data bytes.Buffer
	archive := tar.NewWriter(&data)
	for _, header := range headers {
		header.Size = int64(len("content"))
		if header.Typeflag != tar.TypeReg {
			header.Size = 0
		}
		if err := archive.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			fmt.Fprint(archive, "content")
		}
	}
	archive.Close()
	var file bytes.Buffer
	file.WriteString("!<arch>\n")
	fmt.Fprintf(&file, "%-16s%-12s%-6s%-6s%-8s%-10d`\n", "data.tar", "0", "0", "0", "100644", data.Len())
	file.Write(data.Bytes())
	return file.Bytes()
}

func unpack(t *testing.T, content []byte) (string, error) {
	t.Helper()
	file, out := filepath.Join(t.TempDir(), "package.deb"), t.TempDir()
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return out, run([]string{"deb", out, file})
}

func TestUnpackMergesUsrAndKeepsLinksInside(t *testing.T) {
	out, err := unpack(t, deb(t,
		tar.Header{Typeflag: tar.TypeReg, Name: "./bin/tool", Mode: 0o755},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "./usr/bin/alias", Linkname: "/bin/tool"},
		tar.Header{Typeflag: tar.TypeReg, Name: "./../escape", Mode: 0o644},
	))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"usr/bin/tool", "bin/tool", "usr/bin/alias", "escape"} {
		if content, err := os.ReadFile(filepath.Join(out, path)); err != nil || string(content) != "content" {
			t.Errorf("%s: %q, %v", path, content, err)
		}
	}
	if info, err := os.Stat(filepath.Join(out, "usr/bin/tool")); err != nil || info.Mode()&0o111 == 0 {
		t.Error("the exec bit is lost")
	}
}

func TestWhatIsNoPackageIsRefused(t *testing.T) {
	for name, content := range map[string]string{
		"no ar header":   "PK\x03\x04",
		"no data member": "!<arch>\n",
		"bad ar header":  "!<arch>\n" + strings.Repeat("x", arHeader),
	} {
		if _, err := unpack(t, []byte(content)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
