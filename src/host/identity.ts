import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { performance } from 'node:perf_hooks'
import type { Identity } from './host.js'

/** How a system tells when one of its processes started; null when there is no such process, or only its zombie. */
type StartTimes = { mine: string; sameStart: (pid: number, start: string) => boolean }

export function createIdentity(): Identity {
  const machine = `${hostname().replaceAll(':', '_')}:${bootAndNamespace()}`
  const starts = process.platform === 'linux' ? procStartTimes() : psStartTimes()
  return {
    owner: `${machine}:${process.pid}:${starts.mine}`,
    isAlive(owner) {
      const match = /^(.+):(\d+):(\d+)$/.exec(owner)
      if (!match || match[1] !== machine) return null
      return starts.sameStart(Number(match[2]), match[3] ?? '')
    },
  }
}

/**
 * Two containers on one machine may share a host name, but not their process ids; a reboot starts the ids anew.
 * Either makes the other side unknowable, so both are part of the name.
 */
function bootAndNamespace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}.${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return process.platform
  }
}

function procStartTimes(): StartTimes {
  return {
    mine: readProcStat(process.pid)?.start ?? '0',
    sameStart(pid, start) {
      const stat = readProcStat(pid)
      return stat !== null && stat.start === start && stat.state !== 'Z' && stat.state !== 'X'
    },
  }
}

function readProcStat(pid: number): { state: string; start: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the program's name in parentheses and may contain anything, parentheses too.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', start: fields[19] ?? '' }
  } catch {
    return null
  }
}

/** `ps` tells the start in whole seconds, and this process knows its own only from inside: two seconds are the same. */
export function psStartTimes(): StartTimes {
  return {
    mine: String(Math.round(performance.timeOrigin / 1000)),
    sameStart(pid, start) {
      try {
        const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
          encoding: 'utf8',
          // Not by the PATH of the person, in which a folder of the project may come first.
          env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
          stdio: ['ignore', 'pipe', 'ignore'],
        }).trim()
        const started = Date.parse(line.replace(/^\S+\s+/, '')) / 1000
        return !line.startsWith('Z') && Math.abs(started - Number(start)) <= 2
      } catch {
        return false
      }
    },
  }
}
