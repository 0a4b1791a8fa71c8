#pragma once

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace ooc_describe {

/// An identifier of libhdf5, which is closed at the end. Throws std::runtime_error if there is
/// none, because a call failed; `what` says which.
template <herr_t (*close)(hid_t)>
class Handle {
 public:
  Handle(hid_t id, const char* what) : id_(id) {
    if (id < 0) throw std::runtime_error(std::string(what) + " failed");
  }
  ~Handle() { close(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  operator hid_t() const noexcept { return id_; }

 private:
  hid_t id_;
};

using FileHandle = Handle<H5Fclose>;
using DatasetHandle = Handle<H5Dclose>;
using SpaceHandle = Handle<H5Sclose>;
using TypeHandle = Handle<H5Tclose>;
using PropertyHandle = Handle<H5Pclose>;

/// Throws std::runtime_error if a call of libhdf5 failed.
template <class Status>
Status checked(Status status, const char* what) {
  if (status < 0) throw std::runtime_error(std::string(what) + " failed");
  return status;
}

}  // namespace ooc_describe
