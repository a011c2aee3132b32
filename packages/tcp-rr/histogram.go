package main

import (
	"math/bits"
	"time"
)

// subBuckets is how many steps there are between a power of two and the next: a bound is at most 1/128 too high.
const subBucketBits = 7

// histogram counts durations by an upper bound whose relative error is bounded, in fixed memory.
type histogram struct {
	counts [(64 - subBucketBits + 1) << subBucketBits]int64
}

// index returns the bucket of a value: exact below 1 << subBucketBits, then by the leading bits.
func index(value uint64) int {
	shift := max(bits.Len64(value)-subBucketBits-1, 0)
	return shift<<subBucketBits + int(value>>shift)
}

// bound returns the highest value of a bucket.
func bound(index int) int64 {
	shift := max(index>>subBucketBits-1, 0)
	return int64((uint64(index-shift<<subBucketBits)+1)<<shift) - 1
}

func (h *histogram) add(duration time.Duration) {
	h.counts[index(uint64(max(duration, 0)))]++
}

// pairs returns upper bounds in nanoseconds with their counts, upwards, without those that have none.
func (h *histogram) pairs() [][2]int64 {
	found := [][2]int64{}
	for i, count := range h.counts {
		if count > 0 {
			found = append(found, [2]int64{bound(i), count})
		}
	}
	return found
}
