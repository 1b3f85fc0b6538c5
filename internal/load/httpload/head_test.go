package httpload

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
)

func TestHeads(t *testing.T) {
	nginx := "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 22 Nov 2026 06:00:00 GMT\r\nContent-Type: application/octet-stream\r\n" +
		"Content-Length: 600\r\nLast-Modified: Sun, 22 Nov 2026 05:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"69213a70-258\"\r\nAccept-Ranges: bytes\r\n\r\n"
	for _, c := range []struct {
		name, text string
		want       head
		is         shape
	}{
		{"nginx", nginx, head{200, 600, false}, usual},
		{"with its body", nginx + "xxx", head{200, 600, false}, usual},
		{"the last", "HTTP/1.1 404 Not Found\r\ncontent-length:9\r\nCONNECTION: Close\r\n\r\n", head{404, 9, true}, usual},
		{"cut", nginx[:len(nginx)-1], head{}, partial},
		{"nothing", "", head{}, partial},
		{"no length", "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", head{}, unusual},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", head{}, unusual},
		{"both", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", head{}, unusual},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", head{}, unusual},
		{"interim", "HTTP/1.1 103 Early Hints\r\nContent-Length: 1\r\n\r\n", head{}, unusual},
		{"no body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1\r\n\r\n", head{}, unusual},
		{"old", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", head{}, unusual},
		{"folded", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 1\r\n\r\n", head{}, unusual},
		{"signed", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", head{}, unusual},
		{"mail", "SMTP ready\r\n\r\n", head{}, unusual},
		{"mail that waits", "220 mail.example.org ESMTP\r\n", head{}, unusual},
		{"half a line", "HTTP/1.1 2", head{}, partial},
		{"ends of lines of Unix", "HTTP/1.1 200 OK\nContent-Length: 1\n\n", head{}, unusual},
		{"ends of both kinds", "HTTP/1.1 200 OK\nContent-Length: 1\n\r\n", head{}, unusual},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, n, is := parseHead([]byte(c.text))
			if is != c.is || is == usual && (h != c.want || !strings.HasSuffix(c.text[:n], "\r\n\r\n")) {
				t.Errorf("%+v of %d bytes, %d", h, n, is)
			}
		})
	}
}

// FuzzHead holds the quick look at a head to net/http's: what it takes for usual
// means the same there, and it waits for no more than net/http needs.
func FuzzHead(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-length : 5\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 05\r\nA:\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"))
	f.Add([]byte("HTTP/1.1 200 \r\nContent-Length: 5\r\nKeep-Alive: x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, is := parseHead(b)
		if is == unusual {
			return
		}
		in := bufio.NewReaderSize(bytes.NewReader(b), len(b)+16)
		resp, err := http.ReadResponse(in, nil)
		if is == partial {
			if err == nil {
				resp.Body.Close()
				t.Fatalf("net/http has all of %q", b)
			}
			return
		}
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", b, err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != h.code || resp.ContentLength != h.length || resp.Close != h.last || in.Buffered() != len(b)-n {
			t.Fatalf("%q: %+v of %d bytes; net/http says %d, %d, %v, %d left", b, h, n, resp.StatusCode, resp.ContentLength, resp.Close, in.Buffered())
		}
	})
}
