//go:build !linux

package fileload

import "golang.org/x/sys/unix"

// flush writes all file systems' dirty pages: there is no call for one here.
func flush(int) error { return unix.Sync() }

// FileSystem names the kind of file system that a directory is on; "" is unknown.
func FileSystem(dir string) string {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return ""
	}
	return unix.ByteSliceToString(s.Fstypename[:])
}
