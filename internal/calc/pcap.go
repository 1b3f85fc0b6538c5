package calc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// captureFile reads the packets of a file in pcap or pcapng format
// (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).
type captureFile struct {
	r     *bufio.Reader
	order binary.ByteOrder
	// links are the link types of the section's interfaces; nil: the format is pcap.
	links []uint16
	buf   []byte
}

const (
	linkEthernet = 1
	// mostCaptured is tcpdump's largest snapshot; more is a broken file.
	mostCaptured = 1 << 18

	blockSection    = 0x0a0d0d0a
	blockInterface  = 1
	blockSimple     = 3
	blockEnhanced   = 6
	sectionInOrder  = 0x1a2b3c4d
	capturedMicro   = 0xa1b2c3d4
	capturedNano    = 0xa1b23c4d
	leastBlock      = 12 // its type, its length, and that again
	enhancedBefore  = 20 // what is in an enhanced block before the packet
	simpleBefore    = 4
	interfaceBefore = 8
)

// openCapture reads the head of a capture of Ethernet.
func openCapture(r io.Reader) (*captureFile, error) {
	c := &captureFile{r: bufio.NewReaderSize(r, 1<<16)}
	head, err := c.r.Peek(24)
	if len(head) == 0 {
		return nil, errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("it has %d bytes", len(head))
	}
	if binary.BigEndian.Uint32(head) == blockSection {
		return c, c.begin()
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if magic := order.Uint32(head); magic == capturedMicro || magic == capturedNano {
			c.order = order
		}
	}
	if c.order == nil {
		return nil, fmt.Errorf("it begins with % x", head[:4])
	}
	if link := c.order.Uint32(head[20:]) & 0xffff; link != linkEthernet {
		return nil, notEthernet(link)
	}
	_, err = c.r.Discard(24)
	return c, err
}

func notEthernet(link uint32) error { return fmt.Errorf("its link type is %d, not Ethernet", link) }

// begin reads blocks of pcapng up to the first interface's.
func (c *captureFile) begin() error {
	c.links = []uint16{}
	for len(c.links) == 0 {
		if _, err := c.block(); err != nil {
			return fmt.Errorf("it has no interface: %w", err)
		}
	}
	if link := c.links[0]; link != linkEthernet {
		return notEthernet(uint32(link))
	}
	return nil
}

// next is the next packet's bytes, as far as they were captured, until the next call.
func (c *captureFile) next() ([]byte, error) {
	if c.links == nil {
		head, err := c.read(16)
		if err != nil {
			return nil, err
		}
		return c.read(c.order.Uint32(head[8:]))
	}
	for {
		if packet, err := c.block(); err != nil || packet != nil {
			return packet, err
		}
	}
}

// read returns the next n bytes.
func (c *captureFile) read(n uint32) ([]byte, error) {
	if n > mostCaptured+leastBlock+enhancedBefore {
		return nil, fmt.Errorf("a packet claims %d captured bytes", n)
	}
	if int(n) > cap(c.buf) {
		c.buf = make([]byte, n)
	}
	c.buf = c.buf[:n]
	_, err := io.ReadFull(c.r, c.buf)
	return c.buf, err
}

// block reads a block of pcapng. It returns the packet of one that holds one, of
// Ethernet, and nil for others, which change what is known or are passed over.
func (c *captureFile) block() (packet []byte, err error) {
	head, err := c.r.Peek(leastBlock)
	if err != nil {
		if len(head) == 0 && errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, io.ErrUnexpectedEOF
	}
	if binary.BigEndian.Uint32(head) == blockSection { // the same in either order
		if c.order = orderOf(head[8:]); c.order == nil {
			return nil, errors.New("a section has no byte order")
		}
		c.links = c.links[:0]
	}
	kind, length := c.order.Uint32(head), c.order.Uint32(head[4:])
	if length < leastBlock || length%4 != 0 {
		return nil, fmt.Errorf("a block is %d bytes long", length)
	}
	if _, err := c.r.Discard(8); err != nil {
		return nil, err
	}
	length -= 8 // what is left of it
	if kind != blockInterface && kind != blockSimple && kind != blockEnhanced || length > mostCaptured+leastBlock+enhancedBefore {
		_, err := io.CopyN(io.Discard, c.r, int64(length))
		return nil, err
	}
	body, err := c.read(length)
	if err != nil {
		return nil, err
	}
	body = body[:len(body)-4] // the length again
	switch {
	case kind == blockInterface && len(body) >= interfaceBefore && len(c.links) < 1<<16:
		c.links = append(c.links, c.order.Uint16(body))
	case kind == blockEnhanced && len(body) >= enhancedBefore:
		return c.of(c.order.Uint32(body), body[enhancedBefore:], c.order.Uint32(body[12:])), nil
	case kind == blockSimple && len(body) >= simpleBefore:
		return c.of(0, body[simpleBefore:], c.order.Uint32(body)), nil
	}
	return nil, nil
}

// of is a packet of n bytes at most, if its interface is Ethernet.
func (c *captureFile) of(at uint32, packet []byte, n uint32) []byte {
	if uint64(at) >= uint64(len(c.links)) || c.links[at] != linkEthernet {
		return nil
	}
	return packet[:min(uint64(n), uint64(len(packet)))]
}

func orderOf(magic []byte) binary.ByteOrder {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if order.Uint32(magic) == sectionInOrder {
			return order
		}
	}
	return nil
}
