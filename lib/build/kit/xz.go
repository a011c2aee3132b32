// A small .xz decoder (LZMA2 filter only, which is what dpkg-deb writes).
// The store already guarantees the input by SHA-256, so the CRCs are not
// checked again.
package main

import (
	"bufio"
	"errors"
	"io"
)

var errXZ = errors.New("xz: bad or unsupported data")

type xzReader struct {
	in    *bufio.Reader
	n     int64 // bytes read from in
	check int
	blk   bool
	bpad  int64
	lz    lzma
	err   error
	done  bool
}

func newXZ(r io.Reader) (*xzReader, error) {
	x := &xzReader{in: bufio.NewReaderSize(r, 1<<16)}
	h := x.take(12)
	if h == nil || string(h[:6]) != "\xfd7zXZ\x00" {
		return nil, errXZ
	}
	x.check = map[byte]int{0: 0, 1: 4, 4: 8, 10: 32}[h[7]&15]
	return x, nil
}

func (x *xzReader) take(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(x.in, b); err != nil {
		x.err = err
		return nil
	}
	x.n += int64(n)
	return b
}

func (x *xzReader) Read(p []byte) (int, error) {
	for len(x.lz.pend()) == 0 {
		if x.err != nil {
			return 0, x.err
		}
		if x.done {
			return 0, io.EOF
		}
		if !x.blk {
			b := x.take(1)
			if b == nil {
				return 0, x.err
			}
			if b[0] == 0 { // index: end of the stream
				x.done = true
				continue
			}
			h := x.take(int(b[0]+1)*4 - 1)
			if h == nil {
				return 0, x.err
			}
			if h[0]&3 != 0 {
				return 0, errXZ
			}
			i := 1
			vl := func() (v uint64) {
				for s := 0; i < len(h); s += 7 {
					c := h[i]
					i++
					v |= uint64(c&127) << s
					if c < 128 {
						break
					}
				}
				return
			}
			if h[0]&0x40 != 0 {
				vl()
			}
			if h[0]&0x80 != 0 {
				vl()
			}
			if vl() != 0x21 || vl() != 1 {
				return 0, errXZ
			}
			d := int(h[i])
			size := 1<<32 - 1
			if d < 40 {
				size = (2 | d&1) << (d/2 + 11)
			}
			x.lz.setDict(size)
			x.blk, x.bpad = true, x.n
		}
		end, err := x.chunk()
		if err != nil {
			x.err = err
			return 0, err
		}
		if end {
			x.blk = false
			x.take(int((4-(x.n-x.bpad)%4)%4) + x.check)
		}
	}
	n := copy(p, x.lz.pend())
	x.lz.rd += n
	return n, nil
}

// chunk decodes one LZMA2 chunk (at most 2 MiB of output).
func (x *xzReader) chunk() (end bool, err error) {
	c := x.take(1)
	if c == nil {
		return false, x.err
	}
	l := &x.lz
	l.slide()
	switch k := c[0]; {
	case k == 0:
		return true, nil
	case k <= 2: // stored
		h := x.take(2)
		if h == nil {
			return false, x.err
		}
		if k == 1 {
			l.reset()
		}
		b := x.take(int(h[0])<<8 + int(h[1]) + 1)
		if b == nil {
			return false, x.err
		}
		l.buf = append(l.buf, b...)
	case k < 0x80:
		return false, errXZ
	default:
		h := x.take(4)
		if h == nil {
			return false, x.err
		}
		usize := int(k&0x1f)<<16 + int(h[0])<<8 + int(h[1]) + 1
		csize := int(h[2])<<8 + int(h[3]) + 1
		if m := (k >> 5) & 3; m >= 1 {
			if m >= 2 {
				p := x.take(1)
				if p == nil {
					return false, x.err
				}
				v := int(p[0])
				l.lc, l.lp, l.pb = v%9, v/9%5, v/45
			}
			if m == 3 {
				l.reset()
			}
			l.state()
		}
		b := x.take(csize)
		if b == nil {
			return false, x.err
		}
		return false, l.decode(b, usize)
	}
	return false, nil
}

type lenDec struct {
	c1, c2   uint16
	low, mid [16][8]uint16
	high     [256]uint16
}

type lzma struct {
	buf        []byte
	rd, dict   int
	lc, lp, pb int
	st         int
	rep        [4]int
	lit        []uint16
	match      [12][16]uint16
	rep0l      [12][16]uint16
	isRep      [12]uint16
	r0, r1, r2 [12]uint16
	slot       [4][64]uint16
	spec       [128]uint16
	align      [16]uint16
	ln, rln    lenDec
	in         []byte
	ip         int
	rng, code  uint32
}

func (l *lzma) pend() []byte { return l.buf[l.rd:] }
func (l *lzma) setDict(n int) {
	l.dict = n
}
func (l *lzma) reset() { l.buf, l.rd = l.buf[:0], 0 }
func (l *lzma) slide() { // forget what is beyond the dictionary
	if len(l.buf) > 2*l.dict+1<<22 && l.rd == len(l.buf) {
		n := copy(l.buf, l.buf[(len(l.buf)-l.dict)&^15:]) // keeps position bits
		l.buf, l.rd = l.buf[:n], n
	}
}

func fill(p []uint16) {
	for i := range p {
		p[i] = 1024
	}
}

func (l *lzma) state() {
	l.st, l.rep = 0, [4]int{}
	l.lit = make([]uint16, 0x300<<(l.lc+l.lp))
	fill(l.lit)
	for i := range l.match {
		fill(l.match[i][:])
		fill(l.rep0l[i][:])
	}
	fill(l.isRep[:])
	fill(l.r0[:])
	fill(l.r1[:])
	fill(l.r2[:])
	for i := range l.slot {
		fill(l.slot[i][:])
	}
	fill(l.spec[:])
	fill(l.align[:])
	for _, d := range []*lenDec{&l.ln, &l.rln} {
		d.c1, d.c2 = 1024, 1024
		for i := range d.low {
			fill(d.low[i][:])
			fill(d.mid[i][:])
		}
		fill(d.high[:])
	}
}

func (l *lzma) next() uint32 {
	if l.ip < len(l.in) {
		l.ip++
		return uint32(l.in[l.ip-1])
	}
	return 0
}

func (l *lzma) bit(p *uint16) int {
	if l.rng < 1<<24 {
		l.rng <<= 8
		l.code = l.code<<8 | l.next()
	}
	b := (l.rng >> 11) * uint32(*p)
	if l.code < b {
		l.rng = b
		*p += (2048 - *p) >> 5
		return 0
	}
	l.rng -= b
	l.code -= b
	*p -= *p >> 5
	return 1
}

func (l *lzma) direct(n int) (v int) {
	for ; n > 0; n-- {
		if l.rng < 1<<24 {
			l.rng <<= 8
			l.code = l.code<<8 | l.next()
		}
		l.rng >>= 1
		v <<= 1
		if l.code >= l.rng {
			l.code -= l.rng
			v |= 1
		}
	}
	return
}

func (l *lzma) tree(p []uint16, n int) int {
	m := 1
	for i := 0; i < n; i++ {
		m = m<<1 | l.bit(&p[m])
	}
	return m - 1<<n
}

func (l *lzma) rtree(p []uint16, n int) (v int) {
	m := 1
	for i := 0; i < n; i++ {
		b := l.bit(&p[m])
		m = m<<1 | b
		v |= b << i
	}
	return
}

func (l *lzma) length(d *lenDec, ps int) int {
	if l.bit(&d.c1) == 0 {
		return 2 + l.tree(d.low[ps][:], 3)
	}
	if l.bit(&d.c2) == 0 {
		return 10 + l.tree(d.mid[ps][:], 3)
	}
	return 18 + l.tree(d.high[:], 8)
}

func (l *lzma) decode(in []byte, usize int) error {
	if len(in) < 5 {
		return errXZ
	}
	l.in, l.ip = in, 5
	l.rng = 0xffffffff
	l.code = uint32(in[1])<<24 | uint32(in[2])<<16 | uint32(in[3])<<8 | uint32(in[4])
	out := l.buf
	end := len(out) + usize
	for len(out) < end {
		pos := len(out)
		ps := pos & (1<<l.pb - 1)
		if l.bit(&l.match[l.st][ps]) == 0 {
			prev := 0
			if pos > 0 {
				prev = int(out[pos-1])
			}
			p := l.lit[0x300*((pos&(1<<l.lp-1))<<l.lc+prev>>(8-l.lc)):]
			s := 1
			if l.st >= 7 {
				mb := int(out[pos-l.rep[0]-1])
				for s < 0x100 {
					mb <<= 1
					m := mb & 0x100
					b := l.bit(&p[0x100+m+s])
					s = s<<1 | b
					if m>>8 != b {
						break
					}
				}
			}
			for s < 0x100 {
				s = s<<1 | l.bit(&p[s])
			}
			out = append(out, byte(s))
			switch {
			case l.st < 4:
				l.st = 0
			case l.st < 10:
				l.st -= 3
			default:
				l.st -= 6
			}
			continue
		}
		n := 0
		if l.bit(&l.isRep[l.st]) == 0 {
			n = l.length(&l.ln, ps)
			if l.st < 7 {
				l.st = 7
			} else {
				l.st = 10
			}
			ls := n - 2
			if ls > 3 {
				ls = 3
			}
			d := l.tree(l.slot[ls][:], 6)
			if d >= 4 {
				nb := d>>1 - 1
				base := (2 | d&1) << nb
				if d < 14 {
					d = base + l.rtree(l.spec[base-d:], nb)
				} else {
					d = base + l.direct(nb-4)<<4
					d += l.rtree(l.align[:], 4)
				}
			}
			l.rep = [4]int{d, l.rep[0], l.rep[1], l.rep[2]}
		} else {
			if l.bit(&l.r0[l.st]) == 0 {
				if l.bit(&l.rep0l[l.st][ps]) == 0 {
					if l.st < 7 {
						l.st = 9
					} else {
						l.st = 11
					}
					if l.rep[0] >= pos {
						return errXZ
					}
					out = append(out, out[pos-l.rep[0]-1])
					continue
				}
			} else if l.bit(&l.r1[l.st]) == 0 {
				l.rep[0], l.rep[1] = l.rep[1], l.rep[0]
			} else if l.bit(&l.r2[l.st]) == 0 {
				l.rep = [4]int{l.rep[2], l.rep[0], l.rep[1], l.rep[3]}
			} else {
				l.rep = [4]int{l.rep[3], l.rep[0], l.rep[1], l.rep[2]}
			}
			n = l.length(&l.rln, ps)
			if l.st < 7 {
				l.st = 8
			} else {
				l.st = 11
			}
		}
		if l.rep[0] >= pos || pos+n > end {
			return errXZ
		}
		for i := pos - l.rep[0] - 1; n > 0; n-- {
			out = append(out, out[i])
			i++
		}
	}
	l.buf = out
	return nil
}
