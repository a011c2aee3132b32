package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	return document
}

var poor = grants{
	capabilities: map[string]bool{"CAP_CHOWN": true},
	oomScore:     0,
	limits:       map[string]uint64{"RLIMIT_NOFILE": 4096},
}

func TestFitAsksForLess(t *testing.T) {
	process := parse(t, `{"capabilities": {"bounding": ["CAP_CHOWN", "CAP_SYS_RESOURCE"]}, "oomScoreAdj": -998,
		"rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1048576, "soft": 1024}]}`)
	if !fit(process, poor) {
		t.Fatal("nothing was changed")
	}
	got, _ := json.Marshal(process)
	want := `{"capabilities":{"bounding":["CAP_CHOWN"]},"oomScoreAdj":0,"rlimits":[{"hard":4096,"soft":1024,"type":"RLIMIT_NOFILE"}]}`
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFitChangesNothingWhereAllIsGranted(t *testing.T) {
	text := `{"capabilities": {"bounding": ["CAP_SYS_RESOURCE"]}, "oomScoreAdj": -998,
		"rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1048576, "soft": 1048576}]}`
	process := parse(t, text)
	rich := grants{capabilities: map[string]bool{"CAP_SYS_RESOURCE": true}, limits: map[string]uint64{"RLIMIT_NOFILE": 1}}
	if fit(process, rich) || !reflect.DeepEqual(process, parse(t, text)) {
		t.Errorf("changed: %v", process)
	}
}

func TestConfigurationNamesTheFile(t *testing.T) {
	for _, c := range []struct {
		arguments string
		file      string
		nested    bool
	}{
		{"--root /r create --bundle /b --pid-file p id", "/b/config.json", true},
		{"exec --process /p.json id", "/p.json", false},
		{"state id", "", false},
	} {
		if file, nested := configuration(strings.Fields(c.arguments)); file != c.file || nested != c.nested {
			t.Errorf("%s: got %q %v", c.arguments, file, nested)
		}
	}
}

func TestFitFileRefusesGarbage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if fitFile(file, true, poor) == nil {
		t.Error("no error")
	}
}
