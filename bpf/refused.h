/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef LINERATE_REFUSED_H
#define LINERATE_REFUSED_H

#include "kernel.h"

/* Redirected frames that a device refused. */
struct refusals {
	__u64 refused;
	__s64 error; /* the last one, negative; 0: none */
};

#endif
