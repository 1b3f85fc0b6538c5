package redact

import "sync"

// memo remembers what may be seen of texts: those of a fleet's hosts are mostly the
// same, and to look them over costs more than all else that an inspection does. It
// forgets nothing, and takes no more than its bound.
type memo struct {
	mu    sync.RWMutex
	known map[memoKey]memoValue
	bytes int
}

type memoKey struct{ kind, text string }

type memoValue struct {
	clean string
	left  Left
}

const (
	memoBytes = 24 << 20 // of all texts together
	memoText  = 32 << 10 // of one
)

var seen = memo{known: map[memoKey]memoValue{}}

// text is what may be seen of a text, looked over once.
func (m *memo) text(kind, text string) (string, Left) {
	if len(text) > memoText {
		return look(kind, text)
	}
	key := memoKey{kind, text}
	m.mu.RLock()
	v, ok := m.known[key]
	m.mu.RUnlock()
	if ok {
		return v.clean, v.left
	}
	clean, left := look(kind, text)
	if clean == text {
		clean = text // one copy is enough
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if size := len(text) + len(clean) + 96; m.bytes+size <= memoBytes {
		m.bytes += size
		m.known[key] = memoValue{clean, left}
	}
	return clean, left
}
