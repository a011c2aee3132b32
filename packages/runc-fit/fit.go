package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// capabilities in the kernel's order (include/uapi/linux/capability.h).
var capabilities = strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP
	LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO
	SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE
	AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON
	BPF CHECKPOINT_RESTORE`)

// resources are the resource limits that a container configuration sets in practice, by number
// (asm-generic/resource.h).
var resources = map[string]int{"RLIMIT_CORE": 4, "RLIMIT_NPROC": 6, "RLIMIT_NOFILE": 7, "RLIMIT_MEMLOCK": 8}

// grants is what this process may pass on.
type grants struct {
	capabilities map[string]bool
	oomScore     int64
	limits       map[string]uint64
}

func readGrants() (grants, error) {
	granted := grants{capabilities: map[string]bool{}, limits: map[string]uint64{}}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return granted, err
	}
	_, after, _ := strings.Cut(string(status), "CapBnd:")
	bounding, err := strconv.ParseUint(strings.TrimSpace(strings.SplitN(after, "\n", 2)[0]), 16, 64)
	if err != nil {
		return granted, fmt.Errorf("/proc/self/status: CapBnd: %w", err)
	}
	for bit, name := range capabilities {
		granted.capabilities["CAP_"+name] = bounding>>uint(bit)&1 == 1
	}
	score, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return granted, err
	}
	if granted.oomScore, err = strconv.ParseInt(strings.TrimSpace(string(score)), 10, 64); err != nil {
		return granted, err
	}
	for name, number := range resources {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(number, &limit); err != nil {
			return granted, fmt.Errorf("%s: %w", name, err)
		}
		granted.limits[name] = limit.Max
	}
	return granted, nil
}

// fit lowers what process asks for to what is granted and tells whether it changed anything.
func fit(process map[string]any, granted grants) bool {
	changed := false
	if sets, ok := process["capabilities"].(map[string]any); ok {
		for name, set := range sets {
			kept := []any{}
			list, _ := set.([]any)
			for _, capability := range list {
				if text, ok := capability.(string); ok && granted.capabilities[text] {
					kept = append(kept, capability)
				}
			}
			changed = changed || len(kept) != len(list)
			sets[name] = kept
		}
	}
	if granted.capabilities["CAP_SYS_RESOURCE"] {
		return changed
	}
	if score, ok := process["oomScoreAdj"].(json.Number); ok {
		if wanted, err := score.Int64(); err == nil && wanted < granted.oomScore {
			process["oomScoreAdj"] = granted.oomScore
			changed = true
		}
	}
	limits, _ := process["rlimits"].([]any)
	for _, item := range limits {
		if limit, ok := item.(map[string]any); ok {
			changed = clamp(limit, granted.limits) || changed
		}
	}
	return changed
}

func clamp(limit map[string]any, most map[string]uint64) bool {
	name, _ := limit["type"].(string)
	highest, known := most[name]
	changed := false
	for _, bound := range []string{"hard", "soft"} {
		number, ok := limit[bound].(json.Number)
		if !known || !ok {
			continue
		}
		if wanted, err := strconv.ParseUint(number.String(), 10, 64); err == nil && wanted > highest {
			limit[bound] = highest
			changed = true
		}
	}
	return changed
}
