// tcp-rr measures what netperf's TCP_RR does: the round trip of one byte there and one back, on one
// connection, one at a time. It stands in where netperf is not to be had; reports say which was used.
//
//	tcp-rr serve ADDRESS               answer every byte with one
//	tcp-rr call ADDRESS WARMUP DURATION  print the round trips as JSON
//
// WARMUP and DURATION are written as 1s or 500ms. The connection is made, and warmed up, before it counts.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tcp-rr:", err)
		os.Exit(1)
	}
}

func run(arguments []string, out io.Writer) error {
	switch {
	case len(arguments) == 2 && arguments[0] == "serve":
		listener, err := net.Listen("tcp", arguments[1])
		if err != nil {
			return err
		}
		return serve(listener)
	case len(arguments) == 4 && arguments[0] == "call":
		var times [2]time.Duration
		for i, text := range arguments[2:] {
			var err error
			if times[i], err = time.ParseDuration(text); err != nil || times[i] < 0 {
				return fmt.Errorf("%q: expected a duration such as 10s or 500ms", text)
			}
		}
		result, err := call(arguments[1], times[0], times[1])
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(result)
	}
	return fmt.Errorf("usage: tcp-rr serve ADDRESS, tcp-rr call ADDRESS WARMUP DURATION")
}

func serve(listener net.Listener) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer connection.Close()
			var buffer [1]byte
			for {
				if _, err := io.ReadFull(connection, buffer[:]); err != nil {
					return
				}
				if _, err := connection.Write(buffer[:]); err != nil {
					return
				}
			}
		}()
	}
}

type result struct {
	Transactions int     `json:"transactions"`
	Seconds      float64 `json:"seconds"`
	// Round trips by their time, as pairs of upper bound in nanoseconds and count.
	Histogram [][2]int64 `json:"histogram"`
}

// answerWithin is how long one answer may take until the connection counts as dead.
const answerWithin = 5 * time.Second

func call(address string, warmup, duration time.Duration) (*result, error) {
	connection, err := net.DialTimeout("tcp", address, answerWithin)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(warmup + duration + answerWithin)); err != nil {
		return nil, err
	}
	for begin := time.Now(); time.Since(begin) < warmup; {
		if err := roundTrip(connection); err != nil {
			return nil, err
		}
	}
	var counts histogram
	count, begin := 0, time.Now()
	for now := begin; now.Sub(begin) < duration; count++ {
		if err := roundTrip(connection); err != nil {
			return nil, err
		}
		then := now
		now = time.Now()
		counts.add(now.Sub(then))
	}
	return &result{Transactions: count, Seconds: time.Since(begin).Seconds(), Histogram: counts.pairs()}, nil
}

func roundTrip(connection net.Conn) error {
	buffer := [1]byte{'t'}
	if _, err := connection.Write(buffer[:]); err != nil {
		return err
	}
	_, err := io.ReadFull(connection, buffer[:])
	return err
}
