package dist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The media types of an OCI image (image-spec 1.1).
const (
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociConfig   = "application/vnd.oci.image.config.v1+json"
	ociLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor points at a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// layout collects the blobs of an image layout.
type layout struct{ members map[string][]byte }

func (l layout) blob(mediaType string, data []byte) descriptor {
	d := sum(data)
	l.members["blobs/sha256/"+d] = data
	return descriptor{MediaType: mediaType, Digest: "sha256:" + d, Size: len(data)}
}

func (l layout) document(mediaType string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return descriptor{}, fmt.Errorf("write the image's %s: %w", mediaType, err)
	}
	return l.blob(mediaType, data), nil
}

// OCI is an image of several architectures as a layout in a tar archive, which
// podman, skopeo and docker load: one layer each, whose entrypoint is the program.
func OCI(packages []Package) ([]byte, error) {
	l := layout{map[string][]byte{}}
	first := packages[0]
	index := map[string]any{"schemaVersion": 2, "mediaType": ociIndex}
	var manifests []descriptor
	for _, p := range packages {
		m, err := l.image(p)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, m)
	}
	index["manifests"] = manifests
	all, err := l.document(ociIndex, index)
	if err != nil {
		return nil, err
	}
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": first.Version}
	top, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": ociIndex, "manifests": []descriptor{all}})
	if err != nil {
		return nil, fmt.Errorf("write the image's index: %w", err)
	}
	l.members["index.json"] = top
	l.members["oci-layout"] = []byte(`{"imageLayoutVersion":"1.0.0"}`)
	var entries []Entry
	for name, data := range l.members {
		entries = append(entries, Entry{Path: "/" + name, Mode: 0o644, Data: data})
	}
	var b bytes.Buffer
	err = tarball(&b, first.At, tree("", sorted(entries)))
	return b.Bytes(), err
}

// image adds one architecture's layer, configuration and manifest.
func (l layout) image(p Package) (descriptor, error) {
	var tar bytes.Buffer
	if err := tarball(&tar, p.At, tree("", sorted(p.Entries))); err != nil {
		return descriptor{}, err
	}
	z, err := gzipped(tar.Bytes())
	if err != nil {
		return descriptor{}, fmt.Errorf("compress a layer: %w", err)
	}
	layer := l.blob(ociLayer, z)
	created := p.At.UTC().Format(time.RFC3339)
	config, err := l.document(ociConfig, map[string]any{
		"created": created, "architecture": p.Arch, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/usr/bin/linerate"}, "Env": []string{"PATH=/usr/bin:/bin", "HOME=/root"}, "WorkingDir": "/"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + sum(tar.Bytes())}},
	})
	if err != nil {
		return descriptor{}, err
	}
	m, err := l.document(ociManifest, map[string]any{
		"schemaVersion": 2, "mediaType": ociManifest, "config": config, "layers": []descriptor{layer},
		"annotations": map[string]string{
			"org.opencontainers.image.title": p.Name, "org.opencontainers.image.version": p.Version,
			"org.opencontainers.image.licenses": p.License, "org.opencontainers.image.description": strings.TrimSpace(p.Summary), "org.opencontainers.image.created": created,
		},
	})
	m.Platform = &platform{p.Arch, "linux"}
	return m, err
}
