//! A system that says no: calls that fail as on a broken disk.

/// Makes a system call fail with EIO, in this thread and for good. With `only`, it fails only where the
/// argument of this number (from 0) has this value. False: this system has no such filters.
pub fn refuse(call: libc::c_long, only: Option<(usize, u32)>) -> bool {
    let instruction = |code: u32, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let is_equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let number = std::mem::offset_of!(libc::seccomp_data, nr) as u32;
    let refused = instruction(answer, 0, libc::SECCOMP_RET_ERRNO | libc::EIO as u32);
    let allowed = instruction(answer, 0, libc::SECCOMP_RET_ALLOW);
    let mut filter = vec![instruction(load, 0, number)];
    match only {
        Some((argument, value)) => {
            let offset = std::mem::offset_of!(libc::seccomp_data, args) + argument * size_of::<u64>();
            filter.push(instruction(is_equal, 3, call as u32));
            filter.push(instruction(load, 0, offset as u32));
            filter.push(instruction(is_equal, 1, value));
        }
        None => filter.push(instruction(is_equal, 1, call as u32)),
    }
    filter.extend([refused, allowed]);
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: both calls take numbers, and the second a program that lives during the call, which the kernel copies.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}
