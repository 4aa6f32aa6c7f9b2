//! Messages between processes that carry descriptors.
#![expect(
    unsafe_code,
    reason = "system calls; every wrapper checks its return value"
)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use crate::sys::call::check;

/// How many descriptors one message may carry.
const DESCRIPTORS: usize = 16;

/// Two connected ends. Messages stay whole and in order, and an end that is closed shows.
pub(crate) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: two new descriptors that nothing else owns.
    unsafe {
        check(libc::socketpair(
            libc::AF_UNIX,
            libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC,
            0,
            ends.as_mut_ptr(),
        ))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Room for the descriptors of a message, aligned as the kernel wants it.
#[repr(align(8))]
struct Room([u8; 64 + DESCRIPTORS * size_of::<RawFd>()]);

/// Sends a message, with copies of `descriptors`.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    assert!(descriptors.len() <= DESCRIPTORS, "callers send a few");
    let mut room = Room([0; size_of::<Room>()]);
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let length = size_of_val(descriptors) as libc::c_uint;
    // SAFETY: an all-zero header is valid; what it points to outlives the call, and the room is
    // large enough for the most descriptors.
    let sent = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        if !descriptors.is_empty() {
            header.msg_control = room.0.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(length) as usize;
            let entry = libc::CMSG_FIRSTHDR(&raw const header);
            (*entry).cmsg_level = libc::SOL_SOCKET;
            (*entry).cmsg_type = libc::SCM_RIGHTS;
            (*entry).cmsg_len = libc::CMSG_LEN(length) as usize;
            let data: *mut RawFd = libc::CMSG_DATA(entry).cast();
            for (index, descriptor) in descriptors.iter().enumerate() {
                data.add(index).write_unaligned(descriptor.as_raw_fd());
            }
        }
        libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL)
    };
    check(sent as libc::c_int).map(drop)
}

/// Receives a message of at most `most` bytes and its descriptors; nothing once the other end is
/// closed.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    most: usize,
) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; most];
    let mut room = Room([0; size_of::<Room>()]);
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let mut descriptors = Vec::new();
    // SAFETY: an all-zero header is valid, and what it points to outlives the call. The kernel
    // writes whole entries into the room, and each descriptor in them is new and owned here.
    let (length, flags) = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = room.0.as_mut_ptr().cast();
        header.msg_controllen = room.0.len();
        let length = loop {
            let length = libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC);
            match check(length as libc::c_int) {
                Ok(_) => break length as usize,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        let mut entry = libc::CMSG_FIRSTHDR(&raw const header);
        while !entry.is_null() {
            if (*entry).cmsg_level == libc::SOL_SOCKET && (*entry).cmsg_type == libc::SCM_RIGHTS {
                let bytes = (*entry).cmsg_len - libc::CMSG_LEN(0) as usize;
                let data: *const RawFd = libc::CMSG_DATA(entry).cast();
                for index in 0..bytes / size_of::<RawFd>() {
                    descriptors.push(OwnedFd::from_raw_fd(data.add(index).read_unaligned()));
                }
            }
            entry = libc::CMSG_NXTHDR(&raw const header, entry);
        }
        (length, header.msg_flags)
    };
    if length == 0 && descriptors.is_empty() {
        return Ok(None);
    }
    if flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
        return Err(io::Error::other("a message is longer than expected"));
    }
    bytes.truncate(length);
    Ok(Some((bytes, descriptors)))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_message_stays_whole_and_carries_descriptors() {
        let (here, there) = socket_pair().unwrap();
        let (read, write) = crate::sys::pipe().unwrap();
        send(here.as_fd(), b"one", &[write.as_fd(), read.as_fd()]).unwrap();
        send(here.as_fd(), b"two", &[]).unwrap();
        drop((read, write));
        let (bytes, descriptors) = receive(there.as_fd(), 100).unwrap().unwrap();
        assert_eq!((bytes.as_slice(), descriptors.len()), (&b"one"[..], 2));
        let mut descriptors = descriptors.into_iter().map(File::from);
        let (mut write, mut read) = (descriptors.next().unwrap(), descriptors.next().unwrap());
        write.write_all(b"through").unwrap();
        drop(write);
        let mut text = String::new();
        read.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
        assert!(receive(there.as_fd(), 2).is_err(), "cut messages show");
        drop(here);
        assert!(
            receive(there.as_fd(), 2).unwrap().is_none(),
            "the end shows"
        );
    }
}
