package studydir

import (
	"os"
	"strconv"
)

// giveToInvoker makes a file that root made under sudo(8) the invoking
// user's. It is a courtesy: a file system without owners keeps its own.
func giveToInvoker(f *os.File) {
	if os.Geteuid() != 0 {
		return
	}
	uid, errUID := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, errGID := strconv.Atoi(os.Getenv("SUDO_GID"))
	if errUID == nil && errGID == nil {
		_ = f.Chown(uid, gid)
	}
}

// giveDirToInvoker is giveToInvoker for a directory just made.
func giveDirToInvoker(path string) {
	if f, err := os.Open(path); err == nil {
		giveToInvoker(f)
		f.Close()
	}
}
