package main

import (
	"bytes"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"
)

func TestEveryRoundTripIsCounted(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go serve(listener)
	var out bytes.Buffer
	if err := run([]string{"call", listener.Addr().String(), "10ms", "50ms"}, &out); err != nil {
		t.Fatal(err)
	}
	var found result
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	counted, last := 0, int64(0)
	for _, pair := range found.Histogram {
		if pair[0] <= last {
			t.Errorf("bounds do not go upwards: %v", found.Histogram)
		}
		counted, last = counted+int(pair[1]), pair[0]
	}
	if found.Transactions == 0 || counted != found.Transactions || found.Seconds < 0.05 {
		t.Errorf("%d round trips, %d counted, in %f s", found.Transactions, counted, found.Seconds)
	}
}

func TestNobodyAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if _, err := call(listener.Addr().String(), 0, time.Millisecond); err == nil {
		t.Error("no error")
	}
}

func TestArgumentsAreNamed(t *testing.T) {
	for text, arguments := range map[string][]string{
		"usage":             {"call", "127.0.0.1:1"},
		`"ten": expected a`: {"call", "127.0.0.1:1", "1s", "ten"},
		`"-1s": expected a`: {"call", "127.0.0.1:1", "-1s", "1s"},
	} {
		if err := run(arguments, nil); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

func TestBoundsAreNeverBelowAndHardlyAbove(t *testing.T) {
	for value := uint64(1); value < 1<<62; value += value/8 + 1 {
		upper := bound(index(value))
		if upper < int64(value) || float64(upper) > float64(value)*(1+1.0/128) {
			t.Fatalf("%d is counted as %d", value, upper)
		}
	}
}
