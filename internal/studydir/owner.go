package studydir

import (
	"os"

	"linerate/internal/invoker"
)

// giveToInvoker makes a file that root made under sudo(8) or doas(1) the invoking
// user's. It is a courtesy: a file system without owners keeps its own.
func giveToInvoker(f *os.File) {
	if who := invoker.Of(); who != invoker.Nobody {
		_ = f.Chown(who.UID, who.GID)
	}
}

// giveDirToInvoker is giveToInvoker for a directory just made.
func giveDirToInvoker(path string) {
	if f, err := os.Open(path); err == nil {
		giveToInvoker(f)
		f.Close()
	}
}
