//go:build linux || freebsd

package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
)

// answer is the reply to an Order between two processes.
type answer struct {
	Opened Opened `json:"opened"`
	Error  string `json:"error,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// answerMost bounds the size of an answer.
const answerMost = 64 << 10

// Hand executes an Order with open and passes the descriptor to the process at
// the other end of a socket (unix(4), SCM_RIGHTS), or the error.
func Hand(socket int, o Order, open Door) error {
	got, failed := open(o)
	a, rights := answer{Opened: got}, []byte(nil)
	if failed != nil {
		a.Error, a.Hint = failed.Error(), hint.Of(failed)
	} else {
		defer got.File.Close()
		rights = unix.UnixRights(int(got.File.Fd()))
	}
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(socket, data, rights, nil, 0); err != nil {
		return fmt.Errorf("hand %s over: %w", o.Device, err)
	}
	return nil
}

// Take receives what Hand sends.
func Take(socket int) (Opened, error) {
	data, oob := make([]byte, answerMost), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := unix.Recvmsg(socket, data, oob, 0)
	if err != nil {
		return Opened{}, fmt.Errorf("take a descriptor: %w", err)
	}
	if n == 0 {
		return Opened{}, io.ErrUnexpectedEOF
	}
	fd, err := descriptor(oob[:oobn])
	if err != nil {
		return Opened{}, err
	}
	var a answer
	if err := json.Unmarshal(data[:n], &a); err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		return Opened{}, fmt.Errorf("read what was opened: %w", err)
	}
	switch {
	case a.Error != "" && a.Hint != "":
		return Opened{}, hint.With(errors.New(a.Error), "%s", a.Hint)
	case a.Error != "":
		return Opened{}, errors.New(a.Error)
	case fd < 0:
		return Opened{}, errors.New("no descriptor was passed")
	}
	a.Opened.File = os.NewFile(uintptr(fd), a.Opened.Device.Name)
	return a.Opened, nil
}

// descriptor returns the descriptor in a control message; −1 if there is none.
func descriptor(oob []byte) (int, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) == 0 {
		return -1, err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return -1, err
	}
	unix.CloseOnExec(fds[0])
	return fds[0], nil
}
