package web_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"linerate/internal/labtest"
	"linerate/internal/web"
)

// shots names a directory for screenshots of all pages.
const shots = "LINERATE_SHOTS"

// window is a browser window with everything that the browser complained about.
type window struct {
	context.Context
	mu   sync.Mutex
	said []string
}

// browser starts Chromium.
func browser(t *testing.T) *window {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		labtest.Lacking(t, "chromium: %v", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	all, cancelAll := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancelAll)
	ctx, cancel := chromedp.NewContext(all)
	t.Cleanup(cancel)
	w := &window{}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // starts it; it ends with this context
		t.Fatal(err)
	}
	var cancelTime context.CancelFunc
	w.Context, cancelTime = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancelTime)
	err = chromedp.Listen(w, func(e any) {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			w.said = append(w.said, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			w.said = append(w.said, e.Entry.Text+" "+e.Entry.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(w, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	return w
}

// complaints returns what the browser reported since the last call.
func (w *window) complaints() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.said
	w.said = nil
	return said
}

// do runs actions, and fails the test if one fails.
func (w *window) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(w, actions...); err != nil {
		t.Fatal(err)
	}
}

// tells returns the result of an action; a failure ends the test.
func tells[T any](t *testing.T, w *window, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(w, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// says returns the result of a script.
func says[T any](t *testing.T, w *window, script string) T {
	t.Helper()
	return tells(t, w, chromedp.Evaluate[T](script))
}

// call sends a command of the protocol.
func call[P any](t *testing.T, w *window, c cdp.Command[P, cdp.Empty], p P) {
	t.Helper()
	if _, err := chromedp.Call(w, c, p); err != nil {
		t.Fatal(err)
	}
}

// looks are the ways in which pages are shown: on a desktop, in dark mode, on a phone.
var looks = []struct {
	name          string
	width, height int64
	scheme        string
	phone         bool
}{{"desktop", 1280, 900, "light", false}, {"dark", 1280, 900, "dark", false}, {"phone", 390, 844, "light", true}, {"phone-dark", 390, 844, "dark", true}}

// TestInABrowser: the address with the token opens the page and does not keep the token; every page
// fits a desktop and a phone, light and dark, and Chromium reports no problem, including the
// content policy.
func TestInABrowser(t *testing.T) {
	w := browser(t)
	d := newDesk(t)
	base := "http://" + served(t, d.Server, web.Limits{})
	w.do(t, chromedp.Navigate(base+"/fleet?token="+token))
	url, cookies := tells(t, w, chromedp.Location()), says[string](t, w, "document.cookie")
	if url != base+"/fleet" || cookies != "" {
		t.Errorf("the address with the token becomes %s; a script sees the cookies %q", url, cookies)
	}
	pages := []string{"/catalogue/index.html", "/catalogue/t/linux/net.ipv4.tcp_rmem.html", "/nothing"}
	for _, p := range d.every() {
		pages = append(pages, p.path)
	}
	for _, look := range looks {
		call(t, w, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: look.width, Height: look.height, DeviceScaleFactor: 1, Mobile: look.phone})
		call(t, w, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}})
		for i, path := range pages {
			if look.scheme == "dark" && os.Getenv(shots) == "" && i > 3 {
				continue // colours are the style sheet's: a few pages show them
			}
			w.do(t, chromedp.Navigate(base+path))
			title := tells(t, w, chromedp.Text(chromedp.CSS("h1")))
			wide, inner, paper := says[int64](t, w, "document.documentElement.scrollWidth"), says[int64](t, w, "innerWidth"), says[string](t, w, "getComputedStyle(document.body).backgroundColor")
			if wide > inner || inner != look.width {
				t.Errorf("%s, %s: %d pixels wide in a window of %d", path, look.name, wide, inner)
			}
			if dark := strings.Contains(paper, "rgb(20, 23, 26)"); strings.TrimSpace(title) == "" || dark != (look.scheme == "dark") {
				t.Errorf("%s, %s: heading %q on %s", path, look.name, title, paper)
			}
			if hidden := says[int](t, w, "Array.from(document.querySelectorAll('table')).filter(function (t) { return !t.offsetWidth && !t.closest('details:not([open])'); }).length"); hidden > 0 {
				t.Errorf("%s, %s: %d tables cannot be seen", path, look.name, hidden)
			}
			for _, c := range w.complaints() {
				if !strings.Contains(c, "404") || path != "/nothing" {
					t.Errorf("%s, %s: Chromium says %s", path, look.name, c)
				}
			}
			shoot(t, w, fmt.Sprintf("%02d-%s", i, look.name))
		}
	}
}

// shoot takes a screenshot of a page, if requested.
func shoot(t *testing.T, w *window, name string) {
	dir := os.Getenv(shots)
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), tells(t, w, chromedp.FullScreenshot(100)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestForeignPagesInABrowser: a page of another site, open next to an authorised one, cannot read
// it: not by fetch, in a frame, as a picture or as a script.
func TestForeignPagesInABrowser(t *testing.T) {
	w := browser(t)
	d := newDesk(t)
	base := "http://" + served(t, d.Server, web.Limits{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	foreign := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<h1>foreign</h1><iframe id="f" src="%s/studies"></iframe><img id="i" src="%s/site.css"><script src="%s/catalogue/site.js" onload="window.ran=1"></script>`, base, base, base)
	})}
	go foreign.Serve(l)
	defer foreign.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	script := fmt.Sprintf(`(async function () {
		var out = [];
		for (var o of [{}, {credentials: "include"}, {mode: "no-cors", credentials: "include"}]) {
			try { var r = await fetch(%q, o); out.push(r.type + " " + r.status + " " + (await r.text()).length); } catch (e) { out.push("refused"); }
		}
		out.push("" + window.ran);
		try { out.push(document.getElementById("f").contentDocument ? "frame" : "no frame"); } catch (e) { out.push("no frame"); }
		return out;
	})()`, base+web.API+"/studies")
	w.do(t, chromedp.Navigate(base+"/?token="+token), chromedp.Navigate("http://localhost:"+port+"/"))
	got := tells(t, w, chromedp.Evaluate[[]string](script, chromedp.EvalAwaitPromise))
	if want := "refused refused refused undefined no frame"; strings.Join(got, " ") != want {
		t.Errorf("a foreign page got %q, want %q", got, want)
	}
}
