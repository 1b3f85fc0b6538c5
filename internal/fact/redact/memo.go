package redact

import "sync"

// memo caches redacted texts: a fleet's hosts have mostly the same ones, and redaction costs more
// than the rest of an inspection. It never evicts, and stops at its limit.
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
	memoBytes = 24 << 20 // of all texts
	memoText  = 32 << 10 // of one text
)

var seen = memo{known: map[memoKey]memoValue{}}

// text returns the redacted text, from the cache if possible.
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
		clean = text // share one copy
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if size := len(text) + len(clean) + 96; m.bytes+size <= memoBytes {
		m.bytes += size
		m.known[key] = memoValue{clean, left}
	}
	return clean, left
}
