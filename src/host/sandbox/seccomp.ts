import { endianness } from 'node:os'

/** Numbers of system calls. `modes`: which argument of a call holds the mode that a file gets. */
type Calls = { audit: number; socket: number; denied: number[]; modes: [call: number, argument: number][] }

const CALLS: Partial<Record<NodeJS.Architecture, Calls>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    // add_key, request_key, keyctl, perf_event_open, bpf, userfaultfd, kexec (2), modules (2), io_uring_setup, openat2
    denied: [248, 249, 250, 298, 321, 323, 246, 320, 175, 313, 425, 437],
    // open, creat, chmod, fchmod, mknod, openat, mknodat, fchmodat, fchmodat2
    modes: [
      [2, 2],
      [85, 1],
      [90, 1],
      [91, 1],
      [133, 1],
      [257, 3],
      [259, 2],
      [268, 2],
      [452, 2],
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    denied: [217, 218, 219, 241, 280, 282, 104, 294, 105, 273, 425, 437],
    modes: [
      [33, 2],
      [52, 1],
      [53, 2],
      [56, 3],
      [452, 2],
    ],
  },
}

const LOAD = 0x20
const AND = 0x54
const IF_EQUAL = 0x15
const IF_AT_LEAST = 0x35
const RETURN = 0x06
const ALLOW = 0x7fff0000
const REFUSE = 0x00050001
const AT_CALL = 0
const AT_MACHINE = 4
const AF_VSOCK = 40
const SET_USER_ID = 0o4000
/** From here on, x86 has the calls of another set a second time. */
const X32 = 0x40000000

type Instruction = [op: number, if_true: number, if_false: number, value: number]

/**
 * A filter for what no namespace covers: keys that a session holds in the kernel, the line from a virtual machine to
 * its host, files that lend the person's rights to whoever runs them, and calls that exploits make and everyday
 * commands do not. openat2 and io_uring are refused because what they do cannot be seen from their arguments.
 * In the kernel's own form; null where the numbers are not known. Programs for another architecture cannot run.
 */
export function systemCallFilter(arch: NodeJS.Architecture = process.arch): Buffer | null {
  const calls = CALLS[arch]
  if (!calls || endianness() !== 'LE') return null
  const refuse: Instruction = [RETURN, 0, 0, REFUSE]
  return encode([
    [LOAD, 0, 0, AT_MACHINE],
    [IF_EQUAL, 1, 0, calls.audit],
    refuse,
    [LOAD, 0, 0, AT_CALL],
    [IF_AT_LEAST, 0, 1, X32],
    refuse,
    ...calls.denied.flatMap((call): Instruction[] => [[IF_EQUAL, 0, 1, call], refuse]),
    ...calls.modes.flatMap(([call, argument]): Instruction[] => [
      [IF_EQUAL, 0, 5, call],
      [LOAD, 0, 0, atArgument(argument)],
      [AND, 0, 0, SET_USER_ID],
      [IF_EQUAL, 0, 1, SET_USER_ID],
      refuse,
      [RETURN, 0, 0, ALLOW],
    ]),
    [IF_EQUAL, 0, 3, calls.socket],
    [LOAD, 0, 0, atArgument(0)],
    [IF_EQUAL, 0, 1, AF_VSOCK],
    refuse,
    [RETURN, 0, 0, ALLOW],
  ])
}

function atArgument(index: number): number {
  return 16 + 8 * index
}

function encode(program: Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [i, [op, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(op, i * 8)
    bytes.writeUInt8(ifTrue, i * 8 + 2)
    bytes.writeUInt8(ifFalse, i * 8 + 3)
    bytes.writeUInt32LE(value, i * 8 + 4)
  }
  return bytes
}
